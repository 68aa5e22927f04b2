import { Migration } from '@mikro-orm/migrations';

/** A check of a template ends with the API key with which it was asked for. */
export class CheckAuthorities extends Migration {
  override up(): void {
    this.addSql(`
      alter table "template_checks"
        add column "credential_id" uuid null,
        add column "responsible_user_id" uuid null
    `);
  }
}
