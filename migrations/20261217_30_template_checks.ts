import { Migration } from '@mikro-orm/migrations';

/** What checks in a sandbox found about versions, and the checks that are under way. Versions of earlier releases were not checked. */
export class TemplateChecks extends Migration {
  override up(): void {
    this.addSql(`alter table "template_versions" add column "check" jsonb null`);
    this.addSql(`
      create table "template_checks" (
        "id" uuid not null,
        "template_id" uuid not null,
        "version_id" uuid null,
        "content" jsonb null,
        "pool" varchar(255) not null,
        "demand" jsonb null,
        "holders" jsonb not null,
        "requested_by" uuid not null,
        "tries" int not null default 0,
        "started_at" timestamptz(3) null,
        "ended_at" timestamptz(3) null,
        "result" jsonb null,
        "created_at" timestamptz(3) not null,
        primary key ("id")
      )
    `);
    this.addSql(`create index "template_checks_template_id_index" on "template_checks" ("template_id")`);
    this.addSql(
      `alter table "template_checks" add constraint "template_checks_version_id_unique" unique ("version_id")`,
    );
    this.addSql(
      `alter table "template_checks" add constraint "template_checks_template_id_foreign" foreign key ("template_id") references "templates" ("id") on delete restrict`,
    );
    this.addSql(
      `alter table "template_checks" add constraint "template_checks_version_id_foreign" foreign key ("version_id") references "template_versions" ("id") on delete restrict`,
    );
  }
}
