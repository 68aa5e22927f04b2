import { Migration } from '@mikro-orm/migrations';

/**
 * Forgets what was read of files that limit the versions of OpenTofu: from 1.12 on, it ignores some of these limits. Their versions are read again
 * when they are used.
 */
export class FileDemands extends Migration {
  override up(): void {
    this.addSql(
      `update "template_versions" set "files_tools" = null where "files_tools" -> 'required' -> 'opentofu' <> '[]'::jsonb`,
    );
  }
}
