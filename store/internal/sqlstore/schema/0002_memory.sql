CREATE TABLE memory_record (
  repo     {text} NOT NULL,
  issue    {int} NOT NULL,
  revision {int} NOT NULL,
  due      {int},
  data     {blob} NOT NULL,
  PRIMARY KEY (repo, issue)
);

CREATE INDEX memory_due ON memory_record (repo, due, issue) WHERE due IS NOT NULL;

CREATE TABLE memory_ledger (
  path {text} PRIMARY KEY,
  at   {int} NOT NULL,
  data {blob} NOT NULL
);

CREATE INDEX memory_ledger_age ON memory_ledger (at);

CREATE TABLE memory_aside (
  id   {identity},
  path {text} NOT NULL,
  at   {int} NOT NULL,
  data {blob} NOT NULL
);

CREATE TABLE poll_cursor (
  repo {text} PRIMARY KEY,
  at   {int} NOT NULL,
  data {blob} NOT NULL
);

CREATE TABLE leader (
  name  {text} PRIMARY KEY,
  owner {text} NOT NULL,
  until {int} NOT NULL
);
