import { Migration } from '@mikro-orm/migrations';

/** Lists of runs look up by name which outputs versions call secret. Before, they read the specs of all newer versions for each run. */
export class TemplateSecretOutputs extends Migration {
  override up(): void {
    this.addSql(`
      create table "template_secret_outputs" (
        "template_id" uuid not null,
        "name" varchar(255) not null,
        "version_id" uuid not null,
        "is_yanked" boolean not null default false,
        primary key ("template_id", "name", "version_id")
      )
    `);
    for (const [column, table] of [
      ['template_id', 'templates'],
      ['version_id', 'template_versions'],
    ])
      this.addSql(
        `alter table "template_secret_outputs" add constraint "template_secret_outputs_${column}_foreign" foreign key ("${column}") references "${table}" ("id") on delete restrict`,
      );
    this.addSql(`
      insert into "template_secret_outputs" ("template_id", "name", "version_id", "is_yanked")
      select v."template_id", o.key, v."id", v."yanked_at" is not null from "template_versions" v
        cross join lateral jsonb_each(case jsonb_typeof(v."spec" -> 'outputs') when 'object' then v."spec" -> 'outputs' else '{}' end) o
        where o.value ->> 'sensitive' = 'true'
    `);
  }
}
