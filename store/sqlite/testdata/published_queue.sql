PRAGMA journal_mode = WAL;
CREATE TABLE task_queue (
  task_id TEXT PRIMARY KEY, agent_url TEXT NOT NULL, status TEXT NOT NULL DEFAULT 'pending', payload TEXT NOT NULL,
  created_at REAL NOT NULL, claimed_at REAL, completed_at REAL, result TEXT, retry_count INTEGER NOT NULL DEFAULT 0, last_heartbeat REAL
);
CREATE INDEX idx_task_queue_status ON task_queue (status, agent_url);
INSERT INTO task_queue (task_id, agent_url, status, payload, created_at, claimed_at, completed_at, result, retry_count, last_heartbeat) VALUES
('00000000-0000-4000-8000-000000000002', 'http://A:9001/', 'pending', '{"task_id":"00000000-0000-4000-8000-000000000002","type":"issue.triage","repo":"Org/Repo","payload":{"number":2,"title":"second"},"context":{"llm_backend":{"provider":"x","model":"y"},"memory_summary":null}}', 1775000002.25, NULL, NULL, NULL, 0, NULL),
('00000000-0000-4000-8000-000000000001', 'http://a:9001/task', 'pending', '{"task_id":"00000000-0000-4000-8000-000000000001","type":"issue.triage","repo":"org/repo","payload":{"issue":{"number":1}},"context":{}}', 1775000001.5, NULL, NULL, NULL, 2, NULL),
('00000000-0000-4000-8000-000000000003', 'http://a:9001', 'claimed', '{"task_id":"00000000-0000-4000-8000-000000000003","type":"issue.triage","repo":"org/repo","payload":{"number":3},"context":{}}', 1775000003, 1775000010, NULL, NULL, 1, 1775000035),
('00000000-0000-4000-8000-000000000004', 'http://a:9001', 'completed', '{"task_id":"00000000-0000-4000-8000-000000000004","type":"issue.triage","repo":"org/repo","payload":{"number":4},"context":{}}', 1775000004, 1775000010, 1775000020, '{"task_id":"00000000-0000-4000-8000-000000000004","decision":"skip","rationale":"why","actions":[]}', 0, 1775000015),
('00000000-0000-4000-8000-000000000005', 'http://a:9001', 'done', '{"task_id":"00000000-0000-4000-8000-000000000005","type":"issue.triage","repo":"org/repo","payload":{"number":5},"context":{}}', 1775000005, 1775000010, 1775000021, '{"task_id":"00000000-0000-4000-8000-000000000005","decision":"skip","rationale":"","actions":[]}', 0, NULL),
('00000000-0000-4000-8000-000000000006', 'http://a:9001', 'failed', '{"task_id":"00000000-0000-4000-8000-000000000006","type":"issue.triage","repo":"org/repo","payload":{"number":6},"context":{}}', 1775000006, NULL, NULL, NULL, 3, NULL),
('00000000-0000-4000-8000-000000000007', 'http://a:9001', 'pending', 'no JSON', 1775000007, NULL, NULL, NULL, 0, NULL),
('00000000-0000-4000-8000-000000000008', 'http://a:9001', 'completed', '{"repo":"org/repo","payload":{"number":8}}', 1775000008, NULL, 1775000022, '{"decision":"maybe"}', 0, NULL),
('00000000-0000-4000-8000-000000000009', 'ftp://a/', 'pending', '{"repo":"org/repo","payload":{"number":9}}', 1775000009, NULL, NULL, NULL, 0, NULL),
('00000000-0000-4000-8000-000000000010', 'http://a:9001', 'pending', '{"repo":"org/repo","payload":{"number":"x"}}', 1775000010, NULL, NULL, NULL, 0, NULL),
('00000000-0000-4000-8000-000000000011', 'http://a:9001', 'lost', '{"repo":"nobody","payload":{"number":0}}', 'yesterday', X'00', 9e999, X'ff', 'many', NULL),
(NULL, X'ff', 'pending', X'ff', -9e999, NULL, NULL, NULL, -1, NULL);
