import { Migration } from '@mikro-orm/migrations';

/** The modules from elsewhere that versions were resolved to. Of versions of earlier releases, the next plan keeps them. */
export class VersionModules extends Migration {
  override up(): void {
    this.addSql(`
      create table "template_version_modules" (
        "id" uuid not null,
        "template_version_id" uuid not null,
        "environment_id" uuid null,
        "tool" varchar(255) not null,
        "digest" varchar(255) not null,
        "list" jsonb not null,
        "content" bytea null,
        "created_at" timestamptz(3) not null,
        primary key ("id")
      )
    `);
    this.addSql(
      `create unique index "template_version_modules_unique" on "template_version_modules" ("template_version_id", "tool", "environment_id") nulls not distinct`,
    );
    this.addSql(
      `create index "template_version_modules_environment_id_index" on "template_version_modules" ("environment_id")`,
    );
    this.addSql(
      `alter table "template_version_modules" add constraint "template_version_modules_template_version_id_foreign" foreign key ("template_version_id") references "template_versions" ("id") on delete restrict`,
    );
    this.addSql(
      `alter table "template_version_modules" add constraint "template_version_modules_environment_id_foreign" foreign key ("environment_id") references "environments" ("id") on delete restrict`,
    );
  }
}
