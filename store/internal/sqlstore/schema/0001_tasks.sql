CREATE TABLE task (
  seq          {identity},
  task_id      {text} NOT NULL UNIQUE,
  agent        {text} NOT NULL,
  repo         {text} NOT NULL,
  issue        {int} NOT NULL,
  lane         {text} NOT NULL,
  dedup        {text},
  hourly       {text},
  state        {int} NOT NULL,
  priority     {int} NOT NULL,
  joinable     {int} NOT NULL,
  run_at       {int} NOT NULL DEFAULT 0,
  slot         {int} NOT NULL DEFAULT 0,
  attempt      {int} NOT NULL DEFAULT 0,
  claims       {int} NOT NULL DEFAULT 0,
  claimed_by   {text} NOT NULL DEFAULT '',
  lease_until  {int},
  epoch        {int} NOT NULL DEFAULT 0,
  tries        {int} NOT NULL DEFAULT 0,
  owner        {text} NOT NULL DEFAULT '',
  reason       {text} NOT NULL DEFAULT '',
  created_at   {int} NOT NULL,
  claimed_at   {int} NOT NULL DEFAULT 0,
  completed_at {int} NOT NULL DEFAULT 0,
  ended_at     {int}
);

CREATE UNIQUE INDEX task_dedup ON task (dedup) WHERE dedup IS NOT NULL;

CREATE INDEX task_pending ON task (agent, priority DESC, seq) WHERE state = 0;

CREATE INDEX task_tired ON task (claims) WHERE state = 0 AND claims > 0;

CREATE INDEX task_ready ON task (seq) WHERE state = 2;

CREATE INDEX task_tried ON task (state, tries) WHERE tries > 0;

CREATE UNIQUE INDEX task_busy ON task (lane) WHERE state = 3 AND issue > 0;

CREATE INDEX task_later ON task (run_at) WHERE state >= 6;

CREATE INDEX task_lease ON task (lease_until) WHERE lease_until IS NOT NULL;

CREATE INDEX task_hourly ON task (hourly, slot) WHERE hourly IS NOT NULL;

CREATE INDEX task_lane ON task (lane, seq);

CREATE INDEX task_ended ON task (state, ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE task_body (
  seq     {int} PRIMARY KEY,
  origin  {blob},
  message {blob} NOT NULL
);

CREATE TABLE task_result (
  seq      {int} PRIMARY KEY,
  decision {blob} NOT NULL
);

CREATE TABLE task_report (
  seq    {int} PRIMARY KEY,
  report {blob} NOT NULL
);

CREATE TABLE task_log (
  seq  {int} NOT NULL,
  n    {int} NOT NULL,
  at   {int} NOT NULL,
  what {text} NOT NULL,
  who  {text} NOT NULL,
  text {text} NOT NULL,
  PRIMARY KEY (seq, n)
);

CREATE TABLE task_also (
  dedup {text} PRIMARY KEY,
  seq   {int} NOT NULL
);

CREATE INDEX task_also_seq ON task_also (seq);
