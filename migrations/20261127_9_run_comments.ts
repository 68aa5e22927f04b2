import { Migration } from '@mikro-orm/migrations';

/** Adds comments on runs. */
export class RunComments extends Migration {
  override up(): void {
    this.addSql(`
      create table "run_comments" (
        "id" uuid not null,
        "run_id" uuid not null,
        "author_id" uuid not null,
        "author_type" varchar(255) not null,
        "author_name" varchar(255) not null,
        "text" text not null,
        "created_at" timestamptz(3) not null,
        primary key ("id")
      )
    `);
    this.addSql(`create index "run_comments_run_id_index" on "run_comments" ("run_id", "id")`);
    this.addSql(
      `alter table "run_comments" add constraint "run_comments_run_id_foreign" foreign key ("run_id") references "runs" ("id") on delete restrict`,
    );
  }
}
