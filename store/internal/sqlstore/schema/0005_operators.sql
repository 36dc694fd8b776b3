ALTER TABLE task ADD COLUMN asks {int} NOT NULL DEFAULT 0;

ALTER TABLE task ADD COLUMN asked_attempt {int} NOT NULL DEFAULT -1;

ALTER TABLE task ADD COLUMN asked_epoch {int} NOT NULL DEFAULT 0;

CREATE INDEX task_open_repo ON task (lower(repo), seq) WHERE ended_at IS NULL;

CREATE INDEX task_ended_repo ON task (lower(repo), state, seq) WHERE ended_at IS NOT NULL;

CREATE INDEX task_ended_agent ON task (agent, state, seq) WHERE ended_at IS NOT NULL;

CREATE INDEX task_ended_state ON task (state, seq) WHERE ended_at IS NOT NULL;

CREATE INDEX task_waiting ON task (seq) WHERE state = 0;

CREATE TABLE task_count (
  state {int} NOT NULL,
  agent {text} NOT NULL,
  shard {int} NOT NULL,
  n     {int} NOT NULL,
  PRIMARY KEY (state, agent, shard)
);

{count}
