import { Migration } from '@mikro-orm/migrations';

/** Checks of templates may use the connections of an environment, and keep the modules that they were given. */
export class CheckEnvironments extends Migration {
  override up(): void {
    this.addSql(`
      alter table "template_checks"
        add column "environment_id" uuid null,
        add column "modules" jsonb null,
        add column "modules_content" bytea null
    `);
    this.addSql(`create index "template_checks_environment_id_index" on "template_checks" ("environment_id")`);
    this.addSql(
      `alter table "template_checks" add constraint "template_checks_environment_id_foreign" foreign key ("environment_id") references "environments" ("id") on delete restrict`,
    );
  }
}
