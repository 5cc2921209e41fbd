CREATE TABLE account (
  id {key}, handle TEXT NOT NULL UNIQUE, name TEXT, password TEXT, kind TEXT NOT NULL, owner BOOLEAN NOT NULL,
  created DOUBLE PRECISION NOT NULL, erased DOUBLE PRECISION);
CREATE TABLE project (
  id {key}, name TEXT NOT NULL UNIQUE, title TEXT NOT NULL, guidelines TEXT NOT NULL, scale TEXT NOT NULL,
  settings TEXT NOT NULL, created DOUBLE PRECISION NOT NULL, closed DOUBLE PRECISION);
CREATE TABLE member (
  id {key}, project BIGINT NOT NULL REFERENCES project(id) ON DELETE CASCADE,
  account BIGINT NOT NULL REFERENCES account(id) ON DELETE CASCADE, role TEXT NOT NULL,
  created DOUBLE PRECISION NOT NULL, UNIQUE (project, account, role));
CREATE INDEX member_account ON member (account);
CREATE TABLE query (
  id {key}, project BIGINT NOT NULL REFERENCES project(id) ON DELETE CASCADE, name TEXT NOT NULL, text TEXT,
  description TEXT, narrative TEXT, UNIQUE (project, name));
CREATE TABLE document (
  id {key}, project BIGINT NOT NULL REFERENCES project(id) ON DELETE CASCADE, name TEXT NOT NULL, title TEXT,
  url TEXT, snippet TEXT, text TEXT, UNIQUE (project, name));
CREATE TABLE item (
  id {key}, project BIGINT NOT NULL REFERENCES project(id) ON DELETE CASCADE, queue TEXT NOT NULL,
  query BIGINT NOT NULL REFERENCES query(id) ON DELETE CASCADE,
  doc BIGINT NOT NULL REFERENCES document(id) ON DELETE CASCADE,
  other BIGINT REFERENCES document(id) ON DELETE CASCADE,
  asked INTEGER, wanted INTEGER, given INTEGER NOT NULL, position DOUBLE PRECISION NOT NULL, expected TEXT,
  design TEXT, prob DOUBLE PRECISION, extra TEXT, CHECK (given >= 0 AND given <= wanted));
CREATE UNIQUE INDEX item_once ON item (project, queue, query, doc, COALESCE(other, 0));
CREATE INDEX item_with_room ON item (project, queue, position) WHERE given < wanted;
CREATE INDEX item_of_query_with_room ON item (query, queue, position) WHERE given < wanted;
CREATE INDEX item_queue ON item (project, queue);
CREATE INDEX item_trap ON item (project, position) WHERE queue = 'trap';
CREATE INDEX item_query ON item (query);
CREATE INDEX item_doc ON item (doc);
CREATE INDEX item_other ON item (other) WHERE other IS NOT NULL;
CREATE TABLE task (
  id {key}, project BIGINT NOT NULL REFERENCES project(id) ON DELETE CASCADE,
  account BIGINT NOT NULL REFERENCES account(id) ON DELETE CASCADE, queue TEXT NOT NULL,
  opened DOUBLE PRECISION NOT NULL, leased DOUBLE PRECISION NOT NULL, deadline DOUBLE PRECISION,
  closed DOUBLE PRECISION, outcome TEXT, traps INTEGER, passed INTEGER, code TEXT);
CREATE UNIQUE INDEX task_open ON task (project, account, queue) WHERE closed IS NULL;
CREATE INDEX task_lease ON task (project, leased) WHERE closed IS NULL;
CREATE TABLE assignment (
  id {key}, task BIGINT NOT NULL REFERENCES task(id) ON DELETE CASCADE,
  item BIGINT NOT NULL REFERENCES item(id) ON DELETE CASCADE,
  account BIGINT NOT NULL REFERENCES account(id) ON DELETE CASCADE, place INTEGER NOT NULL,
  flipped BOOLEAN NOT NULL, state TEXT NOT NULL, version INTEGER NOT NULL);
CREATE UNIQUE INDEX assignment_once ON assignment (item, account) WHERE state <> 'expired';
CREATE UNIQUE INDEX assignment_place ON assignment (task, place);
CREATE INDEX assignment_item ON assignment (item, account);
CREATE TABLE judgment (
  id {key}, assignment BIGINT NOT NULL REFERENCES assignment(id) ON DELETE CASCADE, version INTEGER NOT NULL,
  kind TEXT NOT NULL, answer TEXT, reason TEXT, time DOUBLE PRECISION NOT NULL, seconds DOUBLE PRECISION,
  away DOUBLE PRECISION, UNIQUE (assignment, version));
CREATE TABLE verdict (
  id {key}, item BIGINT NOT NULL REFERENCES item(id) ON DELETE CASCADE,
  account BIGINT NOT NULL REFERENCES account(id) ON DELETE CASCADE, answer TEXT NOT NULL, reason TEXT,
  time DOUBLE PRECISION NOT NULL);
CREATE INDEX verdict_item ON verdict (item);
CREATE TABLE invitation (
  id {key}, project BIGINT REFERENCES project(id) ON DELETE CASCADE, role TEXT NOT NULL, kind TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE, account BIGINT REFERENCES account(id) ON DELETE CASCADE, note TEXT, "left" INTEGER,
  code TEXT, created DOUBLE PRECISION NOT NULL, expires DOUBLE PRECISION, revoked DOUBLE PRECISION,
  CHECK ("left" >= 0));
CREATE TABLE visit (
  id {key}, invitation BIGINT NOT NULL REFERENCES invitation(id) ON DELETE CASCADE,
  account BIGINT NOT NULL REFERENCES account(id) ON DELETE CASCADE, worker TEXT, parameters TEXT,
  time DOUBLE PRECISION NOT NULL);
CREATE INDEX visit_worker ON visit (invitation, worker);
CREATE TABLE login (
  id {key}, account BIGINT NOT NULL REFERENCES account(id) ON DELETE CASCADE, hash TEXT NOT NULL UNIQUE,
  csrf TEXT NOT NULL, created DOUBLE PRECISION NOT NULL, expires DOUBLE PRECISION NOT NULL);
CREATE TABLE token (
  id {key}, account BIGINT NOT NULL REFERENCES account(id) ON DELETE CASCADE, name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE, scopes TEXT NOT NULL, created DOUBLE PRECISION NOT NULL, expires DOUBLE PRECISION,
  revoked DOUBLE PRECISION);
CREATE TABLE attempt (id {key}, what TEXT NOT NULL, time DOUBLE PRECISION NOT NULL);
CREATE INDEX attempt_what ON attempt (what, time);
CREATE TABLE audit (
  id {key}, time DOUBLE PRECISION NOT NULL, account BIGINT REFERENCES account(id) ON DELETE CASCADE,
  project BIGINT REFERENCES project(id) ON DELETE CASCADE, action TEXT NOT NULL, detail TEXT);
CREATE TABLE upload (
  id {key}, project BIGINT NOT NULL REFERENCES project(id) ON DELETE CASCADE, kind TEXT NOT NULL,
  name TEXT NOT NULL, content {bytes} NOT NULL, time DOUBLE PRECISION NOT NULL);
CREATE TABLE setting (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);
