import { pages } from '#api/web/paths.ts';
import type { AddPage } from '#api/web/visit/route.ts';
import { showApprovalRequest, submitApprovalRequest } from './actions/approval-request.ts';
import { submitComment } from './actions/comment-form.ts';
import { registerRunForms } from './actions/forms.ts';
import { registerInbox } from './inbox/inbox-page.ts';
import { streamListChanges } from './list/list-changes.ts';
import { showRuns } from './list/list-page.ts';
import { registerRunLog } from './log/log-pages.ts';
import { registerPlanFile } from './plan/plan-file.ts';
import { registerReview } from './plan/review/review-pages.ts';
import { showRunOrReviewLink } from './review-links/review-link-page.ts';
import { registerReviewerPages } from './reviewers/reviewers-pages.ts';
import { streamRunChanges } from './run-changes.ts';

/** Adds the list of runs, the page of a run, the forms for what can be done with it, and the inbox of approvals. */
export function registerRuns(addPage: AddPage): void {
  addPage('GET', pages.runs, showRuns);
  addPage('GET', pages.runStream, streamListChanges);
  addPage('GET', pages.run, showRunOrReviewLink);
  addPage('GET', pages.runChanges, streamRunChanges);
  addPage('POST', pages.commentOnRun, submitComment);
  addPage('GET', pages.requestApproval, (visit) => showApprovalRequest(visit));
  addPage('POST', pages.requestApproval, submitApprovalRequest);
  registerRunLog(addPage);
  registerRunForms(addPage);
  registerPlanFile(addPage);
  registerReview(addPage);
  registerReviewerPages(addPage);
  registerInbox(addPage);
}
