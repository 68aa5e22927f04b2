import { Migration } from '@mikro-orm/migrations';

/**
 * How workers contain template code, what pools and environments demand of them, and what each attempt had.
 * Every column may be left out by the release before this one: `workers.isolation` is null for a worker of that release.
 */
export class Containment extends Migration {
  override up(): void {
    this.addSql(`alter table "workers" add column "isolation" varchar(255) null`);
    this.addSql(`alter table "workers" add column "limits" varchar(255) not null default 'process'`);
    this.addSql(`alter table "workers" add column "isolation_reason" text null`);
    this.addSql(`alter table "worker_pools" add column "isolation" varchar(255) null`);
    this.addSql(`alter table "worker_pools" add column "egress" jsonb null`);
    this.addSql(`alter table "environments" add column "isolation" varchar(255) null`);
    this.addSql(`alter table "run_attempts" add column "isolation" varchar(255) null`);
    this.addSql(`alter table "runs" add column "isolation" varchar(255) null`);
    this.addSql(`alter table "installation" add column "states_refused" int not null default 0`);
  }
}
