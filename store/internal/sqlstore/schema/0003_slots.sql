CREATE TABLE write_slot (
  n        {identity},
  identity {text} NOT NULL,
  at       {int} NOT NULL
);

CREATE INDEX write_slot_at ON write_slot (identity, at);
