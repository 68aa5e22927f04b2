import { Migration } from '@mikro-orm/migrations';

/** Shows in a run that waits for approval whom people asked to review it before runs showed that: its events name them. */
export class AskedReviewers extends Migration {
  override up(): void {
    this.addSql(`
      update "runs" as r set "reviewers" = asked.people
        from (
          select e."subject_id",
                 jsonb_agg(distinct jsonb_build_object('type', p."kind", 'id', p."id", 'name', p."name")) as people
            from "domain_events" e
            cross join lateral jsonb_array_elements_text(e."data" -> 'reviewers') as named("id")
            join "principals" p on p."id"::text = named."id"
           where e."subject_kind" = 'run' and e."type" = 'run.approval_requested'
             and e."subject_id" in (select "id" from "runs" where "status" = 'pending_approval')
           group by e."subject_id"
        ) as asked
       where asked."subject_id" = r."id" and r."status" = 'pending_approval' and r."reviewers" = '[]'
    `);
  }
}
