import { Migration } from '@mikro-orm/migrations';

/** The list of changes is filtered by one resource or by refusals, too. These indexes hold no reads, however many reads were denied. */
export class AuditChangeFilters extends Migration {
  override up(): void {
    for (const [name, columns, condition] of indexes)
      this.addSql(
        `create index "audit_records_${name}_changes_index" on "audit_records" (${columns}) where not "is_read"${condition}`,
      );
  }
}

const indexes: readonly (readonly [name: string, columns: string, condition: string])[] = [
  ['resource', '"resource_id", "at", "id"', ` and "resource_id" is not null`],
  ['refused', '"at", "id"', ` and "outcome" = 'refused'`],
];
