CREATE TABLE history (
  scope {text} NOT NULL,
  width {int} NOT NULL,
  at    {int} NOT NULL,
  data  {blob} NOT NULL,
  PRIMARY KEY (scope, width, at)
);

CREATE INDEX history_age ON history (width, at);

CREATE TABLE history_budget (
  width     {int} NOT NULL,
  at        {int} NOT NULL,
  account   {text} NOT NULL,
  calls     {int} NOT NULL,
  remaining {int},
  quota     {int} NOT NULL,
  PRIMARY KEY (width, at, account)
);
