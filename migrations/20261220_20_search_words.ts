import { Migration } from '@mikro-orm/migrations';

/**
 * The search finds resources by their addresses, runs by their messages or the end of their id, and versions by their numbers. The words of addresses and
 * messages are indexed in lower case together with the team, so that a search costs little however much other teams have. This needs no extension of
 * PostgreSQL.
 */
export class SearchWords extends Migration {
  override up(): void {
    this.addSql(
      `create index "instance_resources_words_index" on "instance_resources" using gin ((to_tsvector('simple', regexp_replace(lower("address"), '[^[:alnum:]]+', ' ', 'g')) || array_to_tsvector(array[coalesce("team_id"::text, '-')])))`,
    );
    this.addSql(
      `create index "runs_message_words_index" on "runs" using gin ((to_tsvector('simple', regexp_replace(lower("message"), '[^[:alnum:]]+', ' ', 'g')) || array_to_tsvector(array[coalesce("team_id"::text, '-')]))) where "message" <> ''`,
    );
    this.addSql(`create index "runs_id_end_index" on "runs" (reverse(right("id"::text, 12)) text_pattern_ops)`);
    this.addSql(
      `create index "template_versions_version_index" on "template_versions" (lower("version") text_pattern_ops, "id")`,
    );
  }
}
