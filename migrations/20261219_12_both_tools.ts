import { Migration } from '@mikro-orm/migrations';

/** A check keeps the modules that a second tool resolved, too. */
export class BothTools extends Migration {
  override up(): void {
    this.addSql(`
      alter table "template_checks"
        add column "other_modules" jsonb null,
        add column "other_modules_content" bytea null
    `);
  }
}
