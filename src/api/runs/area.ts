import type { Area } from '#api/web/declarations/area.ts';
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
import { registerRuns } from './pages/register.ts';
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
  pages: [registerRuns],
  navigation: [
    { group: 'Workloads', label: 'Runs', icon: 'play', path: pages.runs, operation: 'runs.list' },
    { group: 'Workloads', label: 'Approvals', icon: 'hand', path: pages.approvals, operation: 'approvals.list' },
  ],
};
