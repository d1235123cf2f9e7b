"""The steps from an empty database to today's, by name, each applied once.

A step is never changed after a release: a new one follows. A database that has
steps unknown here was made by a newer muralkit, and is left alone.
"""

from __future__ import annotations

APPLICATION_ID = 0x6D_75_72_61  # "mura": tells our files from other SQLite databases

MIGRATIONS: tuple[tuple[str, str], ...] = (
    (
        "001_memories",
        """
        CREATE TABLE memories (
            id           INTEGER PRIMARY KEY AUTOINCREMENT,
            project      TEXT    NOT NULL,
            category     TEXT    NOT NULL,
            content      TEXT    NOT NULL,
            content_key  TEXT    NOT NULL,
            importance   INTEGER CHECK (importance BETWEEN 1 AND 100),
            status       TEXT    NOT NULL CHECK (status IN ('active', 'permanent', 'archived')),
            created_at   INTEGER NOT NULL,
            updated_at   INTEGER NOT NULL,
            expires_at   INTEGER
        ) STRICT;
        CREATE UNIQUE INDEX memories_once ON memories (project, category, content_key);
        """,
    ),
    (
        "002_cues",
        """
        CREATE TABLE cues (
            source        TEXT    NOT NULL,
            project       TEXT    NOT NULL,
            memory_id     INTEGER NOT NULL,
            text          TEXT    NOT NULL,
            content_hash  TEXT    NOT NULL,
            model         TEXT    NOT NULL,
            rules_version INTEGER NOT NULL,
            rejections    INTEGER NOT NULL DEFAULT 0,
            made_at       INTEGER NOT NULL,
            PRIMARY KEY (source, project, memory_id)
        ) STRICT, WITHOUT ROWID;
        """,
    ),
    (
        "003_status_before",
        """
        ALTER TABLE memories ADD COLUMN status_before TEXT
            CHECK (status_before IN ('active', 'permanent'));
        """,
    ),
    (
        "004_leases",
        """
        CREATE TABLE leases (
            project TEXT NOT NULL,
            task    TEXT NOT NULL,
            holder  TEXT NOT NULL,
            until   REAL NOT NULL,
            PRIMARY KEY (project, task)
        ) STRICT, WITHOUT ROWID;
        """,
    ),
    (
        "005_sessions",
        """
        CREATE TABLE sessions (
            harness   TEXT    NOT NULL,
            session   TEXT    NOT NULL,
            project   TEXT    NOT NULL,
            facts     TEXT    NOT NULL,
            text      TEXT    NOT NULL,
            marker    TEXT    NOT NULL,
            png       BLOB,
            png_hash  TEXT,
            reason    TEXT    NOT NULL,
            folded_at REAL    NOT NULL,
            used_at   REAL    NOT NULL,
            folds     INTEGER NOT NULL,
            PRIMARY KEY (harness, session)
        ) STRICT;
        """,
    ),
    (
        "006_text_search",
        """
        CREATE VIRTUAL TABLE memories_text
            USING fts5(content, content = 'memories', content_rowid = 'id',
                       tokenize = 'trigram', detail = 'none');
        INSERT INTO memories_text (memories_text) VALUES ('rebuild');
        CREATE TRIGGER memories_text_insert AFTER INSERT ON memories BEGIN
            INSERT INTO memories_text (rowid, content) VALUES (new.id, new.content);
        END;
        CREATE TRIGGER memories_text_delete AFTER DELETE ON memories BEGIN
            INSERT INTO memories_text (memories_text, rowid, content)
            VALUES ('delete', old.id, old.content);
        END;
        CREATE TRIGGER memories_text_update AFTER UPDATE OF content ON memories BEGIN
            INSERT INTO memories_text (memories_text, rowid, content)
            VALUES ('delete', old.id, old.content);
            INSERT INTO memories_text (rowid, content) VALUES (new.id, new.content);
        END;
        """,
    ),
    (
        # Names whole: what a word goes on over is what muralkit.cues.validate.stands says,
        # with the colon, since a file's line is told by it. Neither positions nor sizes are
        # kept: only whether a word is there is asked for.
        "007_words",
        r"""
        CREATE VIRTUAL TABLE memories_words
            USING fts5(content, content = 'memories', content_rowid = 'id',
                       tokenize = "unicode61 remove_diacritics 0 tokenchars '_-./\@#$%+:&*^'",
                       detail = 'none', columnsize = 0);
        CREATE VIRTUAL TABLE memories_terms USING fts5vocab(memories_words, 'row');
        INSERT INTO memories_words (memories_words) VALUES ('rebuild');
        CREATE TRIGGER memories_words_insert AFTER INSERT ON memories BEGIN
            INSERT INTO memories_words (rowid, content) VALUES (new.id, new.content);
        END;
        CREATE TRIGGER memories_words_delete AFTER DELETE ON memories BEGIN
            INSERT INTO memories_words (memories_words, rowid, content)
            VALUES ('delete', old.id, old.content);
        END;
        CREATE TRIGGER memories_words_update AFTER UPDATE OF content ON memories BEGIN
            INSERT INTO memories_words (memories_words, rowid, content)
            VALUES ('delete', old.id, old.content);
            INSERT INTO memories_words (rowid, content) VALUES (new.id, new.content);
        END;
        """,
    ),
)
