import { Migration } from '@mikro-orm/migrations';

/** Stores which outputs of other instances a run was given; null: none. The index finds the runs that read an instance. */
export class OutputReads extends Migration {
  override up(): void {
    this.addSql(`alter table "runs" add column "reads" jsonb null`);
    this.addSql(
      `create index "runs_reads_index" on "runs" using gin ("reads" jsonb_path_ops) where "reads" is not null`,
    );
  }
}
