import { Migration } from '@mikro-orm/migrations';

/** Adds seals over the audit's records, in the place of two columns that nothing has ever set. */
export class AuditSeals extends Migration {
  override up(): void {
    this.addSql(`
      create table "audit_seals" (
        "position" int not null,
        "until_at" timestamptz(3) not null,
        "until_id" uuid not null,
        "records" int not null,
        "content" bytea not null,
        "seal" bytea not null,
        "created_at" timestamptz(3) not null,
        primary key ("position")
      )
    `);
    this.addSql(`alter table "audit_records" drop column "chain_position", drop column "seal"`);
  }
}
