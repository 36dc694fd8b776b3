ALTER TABLE memory_record ADD COLUMN acted {int};

CREATE INDEX memory_acted ON memory_record (repo, acted, issue) WHERE acted IS NOT NULL;
