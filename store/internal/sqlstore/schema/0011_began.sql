ALTER TABLE memory_record ADD COLUMN began {int};

DROP INDEX memory_acted;

CREATE INDEX memory_acted ON memory_record (repo, acted, issue, began) WHERE acted IS NOT NULL;
