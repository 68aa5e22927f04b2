import { Migration } from '@mikro-orm/migrations';

/**
 * A line of a schedule's history can stand for several times that ended alike, and a schedule remembers up to which time its history has a line for every
 * time. The release before this one writes neither column.
 */
export class ScheduleHistory extends Migration {
  override up(): void {
    this.addSql(`alter table "schedules" add column "accounted_until" timestamptz(3) not null default now()`);
    this.addSql(`alter table "schedule_firings" add column "times" int not null default 1`);
    this.addSql(`alter table "schedule_firings" add column "last_at" timestamptz(3) null`);
    // A run's list of events answered 500 for these, which say nothing that "run.admitted" does not say.
    this.addSql(`delete from "domain_events" where "subject_kind" = 'run' and "type" = 'drift_monitor.scan_requested'`);
  }
}
