CREATE TABLE pause (
  n      {identity},
  kind   {int} NOT NULL,
  name   {text} NOT NULL,
  title  {text} NOT NULL,
  active {int} NOT NULL,
  who    {text} NOT NULL,
  at     {int} NOT NULL,
  reason {text} NOT NULL,
  UNIQUE (kind, name)
);

CREATE INDEX task_parked ON task (state, seq) WHERE state >= 18;

CREATE INDEX task_parked_agent ON task (agent, state, seq) WHERE state >= 18;

CREATE INDEX task_parked_lane ON task (state, lane, seq) WHERE state >= 18;
