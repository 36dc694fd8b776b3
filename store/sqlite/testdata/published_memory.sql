PRAGMA journal_mode = WAL;
CREATE TABLE action_log (id INTEGER PRIMARY KEY, repo TEXT NOT NULL, issue_id INTEGER NOT NULL, task_type TEXT NOT NULL, decision TEXT NOT NULL,
  rationale TEXT NOT NULL, actions TEXT NOT NULL, timestamp DATETIME DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE memory_summary (repo TEXT NOT NULL, issue_id INTEGER NOT NULL, summary TEXT NOT NULL, updated_at DATETIME DEFAULT CURRENT_TIMESTAMP,
  PRIMARY KEY (repo, issue_id));
CREATE TABLE poll_state (repo TEXT PRIMARY KEY, last_polled TEXT NOT NULL);
INSERT INTO action_log (repo, issue_id, task_type, decision, rationale, actions, timestamp) VALUES
('Org/Repo', 7, 'issue.triage', 'label_and_respond', 'tried in vain', '[{"type":"comment","body":"Hi"}]', '2026-04-10 08:00:00'),
('Org/Repo', 7, 'issue.triage', 'label_and_respond', 'tried in vain', '[{"type":"comment","body":"Hi"}]', '2026-04-10 08:00:10'),
('Org/Repo', 7, 'issue.triage', 'close', 'a crash', '[{"type":"add_label","label":"bug"},{"type":"comment","body":"Thanks"},{"type":"close_issue"}]', '2026-04-11 08:00:00'),
('org/repo', 8, 'issue.triage', 'label_and_respond', 'never confirmed', '[{"type":"comment","body":"Hi"}]', '2026-04-12 08:00:00'),
('org/repo', 9, 'issue.triage', 'skip', 'no actions', 'no JSON', 'some day'),
('nobody', 1, 'issue.triage', 'skip', '', '[]', '2026-04-12 08:00:00'),
('org/repo', 'x', 'issue.triage', 'skip', '', '[]', '2026-04-12 08:00:00');
INSERT INTO memory_summary (repo, issue_id, summary, updated_at) VALUES
('Org/Repo', 7, 'decision=close; rationale=a crash', '2026-04-11 08:00:05'),
('org/repo', 10, 'decision=escalate; rationale=too hard', '2026-04-13 08:00:00'),
('org/repo', 11, 'something else', '2026-04-14 08:00:00');
INSERT INTO poll_state (repo, last_polled) VALUES ('Org/Repo', '2026-04-15T08:02:00.123456+00:00'), ('org/broken', 'never');
