import { Initial } from './20261121_initial.ts';
import { Accounts } from './20261122_1_accounts.ts';
import { People } from './20261122_2_people.ts';
import { Tenancy } from './20261122_3_tenancy.ts';
import { Audit } from './20261122_4_audit.ts';
import { Limits } from './20261122_5_limits.ts';
import { RunLists } from './20261122_7_run_lists.ts';
import { Reconciler } from './20261122_reconciler.ts';
import { Containment } from './20261123_1_containment.ts';
import { Publishers } from './20261123_2_publishers.ts';
import { ReceiptAnswers } from './20261123_3_receipt_answers.ts';
import { Events } from './20261124_1_events.ts';
import { LostWorkers } from './20261124_2_lost_workers.ts';
import { DeletedRuns } from './20261125_1_deleted_runs.ts';
import { AuditOrganizations } from './20261126_1_audit_organizations.ts';
import { RequestedReviewers } from './20261127_1_requested_reviewers.ts';
import { Resources } from './20261127_3_resources.ts';
import { RunSearches } from './20261127_4_run_searches.ts';
import { VariablePhases } from './20261127_5_variable_phases.ts';
import { MembershipRevisions } from './20261127_6_membership_revisions.ts';
import { EmailConfirmations } from './20261127_7_email_confirmations.ts';
import { Holds } from './20261127_8_holds.ts';

/** Every migration, oldest first. Forward only: a released one is never changed. */
export const migrations = [
  { name: '20261121_initial', class: Initial },
  { name: '20261122_1_accounts', class: Accounts },
  { name: '20261122_2_people', class: People },
  { name: '20261122_3_tenancy', class: Tenancy },
  { name: '20261122_4_audit', class: Audit },
  { name: '20261122_5_limits', class: Limits },
  { name: '20261122_7_run_lists', class: RunLists },
  { name: '20261122_reconciler', class: Reconciler },
  { name: '20261123_1_containment', class: Containment },
  { name: '20261123_2_publishers', class: Publishers },
  { name: '20261123_3_receipt_answers', class: ReceiptAnswers },
  { name: '20261124_1_events', class: Events },
  { name: '20261124_2_lost_workers', class: LostWorkers },
  { name: '20261125_1_deleted_runs', class: DeletedRuns },
  { name: '20261126_1_audit_organizations', class: AuditOrganizations },
  { name: '20261127_1_requested_reviewers', class: RequestedReviewers },
  { name: '20261127_3_resources', class: Resources },
  { name: '20261127_4_run_searches', class: RunSearches },
  { name: '20261127_5_variable_phases', class: VariablePhases },
  { name: '20261127_6_membership_revisions', class: MembershipRevisions },
  { name: '20261127_7_email_confirmations', class: EmailConfirmations },
  { name: '20261127_8_holds', class: Holds },
];
