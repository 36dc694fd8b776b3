ALTER TABLE task ADD COLUMN title {text} NOT NULL DEFAULT '';

ALTER TABLE task ADD COLUMN delivery {text} NOT NULL DEFAULT '';

ALTER TABLE task_also ADD COLUMN delivery {text} NOT NULL DEFAULT '';
