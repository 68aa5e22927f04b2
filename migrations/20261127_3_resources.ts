import { Migration } from '@mikro-orm/migrations';

/**
 * Lists what instances hold, so that nobody has to open a state to find a resource. Workers fill the list for states of earlier
 * releases: `resources_serial` differs from `state_serial` until they have. An instance can be deleted.
 */
export class Resources extends Migration {
  override up(): void {
    this.addSql(`
      create table "instance_resources" (
        "id" uuid not null,
        "instance_id" uuid not null,
        "team_id" uuid null,
        "address" text not null,
        "module" text null,
        "type" varchar(255) not null,
        "name" varchar(255) not null,
        "provider" varchar(255) null,
        primary key ("id"),
        constraint "instance_resources_instance_id_foreign"
          foreign key ("instance_id") references "instances" ("id") on delete restrict
      )
    `);
    this.addSql(`create index "instance_resources_instance_id_id_index" on "instance_resources" ("instance_id", "id")`);
    this.addSql(`create index "instance_resources_team_id_id_index" on "instance_resources" ("team_id", "id")`);
    this.addSql(
      `create index "instance_resources_team_id_type_id_index" on "instance_resources" ("team_id", "type", "id")`,
    );
    this.addSql(
      `alter table "instances" add column "resources_serial" int null, add column "deleted_at" timestamptz(3) null`,
    );
  }
}
