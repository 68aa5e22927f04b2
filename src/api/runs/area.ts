import { type Area, page } from '#api/web/declarations/area.ts';
import { pages } from '#api/web/paths.ts';
import * as approvals from './approvals/approval-operations.ts';
import * as inbox from './approvals/inbox-operations.ts';
import * as reviewers from './approvals/reviewer-operations.ts';
import * as comments from './comment-operations.ts';
import * as debugLogs from './debug-log-operations.ts';
import * as lists from './lists/list-operations.ts';
import * as statistics from './lists/statistics-operations.ts';
import * as logLines from './log-line-operations.ts';
import * as logs from './log-operations.ts';
import * as runs from './operations.ts';
import { showApprovalRequest, submitApprovalRequest } from './pages/actions/approval-request.ts';
import { submitComment } from './pages/actions/comment-form.ts';
import { runForms } from './pages/actions/forms.ts';
import { inboxPages } from './pages/inbox/inbox-page.ts';
import { streamListChanges } from './pages/list/list-changes.ts';
import { showRuns } from './pages/list/list-page.ts';
import { runLogPages } from './pages/log/log-pages.ts';
import { planFilePage } from './pages/plan/plan-file.ts';
import { reviewPages } from './pages/plan/review/review-pages.ts';
import { showRunOrReviewLink } from './pages/review-links/review-link-page.ts';
import { reviewerPages } from './pages/reviewers/reviewers-pages.ts';
import { streamRunChanges } from './pages/run-changes.ts';
import * as plans from './plan-operations.ts';
import * as repetitions from './repeat-operations.ts';

export const area: Area = {
  operations: [
    runs,
    repetitions,
    lists,
    statistics,
    approvals,
    plans,
    inbox,
    reviewers,
    logs,
    debugLogs,
    logLines,
    comments,
  ],
  tags: {
    runs: 'Governed changes: plan, review, apply, logs.',
    run_comments: 'What people say about runs.',
    approvals: 'What waits for your approval.',
  },
  pages: [
    page('GET', pages.runs, showRuns),
    page('GET', pages.runStream, streamListChanges),
    page('GET', pages.run, showRunOrReviewLink),
    page('GET', pages.runChanges, streamRunChanges),
    page('POST', pages.commentOnRun, submitComment),
    page('GET', pages.requestApproval, (visit) => showApprovalRequest(visit)),
    page('POST', pages.requestApproval, submitApprovalRequest),
    ...runLogPages,
    ...runForms,
    planFilePage,
    ...reviewPages,
    ...reviewerPages,
    ...inboxPages,
  ],
  navigation: [
    { group: 'Workloads', label: 'Runs', icon: 'play', path: pages.runs, operation: 'runs.list' },
    { group: 'Workloads', label: 'Approvals', icon: 'hand', path: pages.approvals, operation: 'approvals.list' },
  ],
};
