import { Migration } from '@mikro-orm/migrations';

/** Templates have a readme, and a yanked version says why it was yanked. */
export class TemplateReadmes extends Migration {
  override up(): void {
    this.addSql(`alter table "templates" add column "readme" text not null default ''`);
    this.addSql(`alter table "template_versions" add column "yank_reason" text not null default ''`);
  }
}
