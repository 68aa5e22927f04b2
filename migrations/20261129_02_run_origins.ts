import { Migration } from '@mikro-orm/migrations';

/**
 * Lets a run carry what its review needs beside the authority to review runs, written by who admits it, and says in words why somebody
 * answers for it. Renames columns that no release has had.
 */
export class RunOrigins extends Migration {
  override up(): void {
    this.addSql(`alter table "runs" add column "review_needs" jsonb not null default '[]'`);
    this.addSql(`
      update "runs" set "review_needs" =
        '[{"permission": "assembly:approve", "because": "it runs a node of an assembly, or repeats such a run"}]'
      where "assembly_run_id" is not null
    `);
    for (const table of ['runs', 'assembly_runs']) {
      this.addSql(`
        update "${table}" set "authors" = (
          select jsonb_agg(jsonb_set(author, '{because}', to_jsonb(case author ->> 'because'
            when 'started_assembly' then 'you started or resumed the assembly run that it is part of'
            when 'published_assembly' then 'you published the version of the assembly that it is part of'
            else author ->> 'because' end)))
          from jsonb_array_elements("authors") as author)
        where "authors" <> '[]'
      `);
    }
    this.addSql(`alter table "runs" rename column "watched_by" to "parent_workflow_id"`);
    this.addSql(`alter table "assembly_nodes" rename column "waits_for" to "dependencies"`);
    this.addSql(`alter table "assembly_nodes" rename column "tries" to "attempts"`);
    this.addSql(`alter table "assembly_nodes" rename column "next_try_at" to "next_attempt_at"`);
  }
}
