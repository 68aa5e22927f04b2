import type { ConfirmationsOn, ResourceKind } from '#api/web/declarations/page-list.ts';
import { type LocalPath, toPath } from '#api/web/declarations/path-patterns.ts';

export const pages = {
  runs: '/workloads/runs',
  runStream: '/workloads/runs/stream',
  run: '/workloads/runs/:id',
  runChanges: '/workloads/runs/:id/stream',
  runLog: '/workloads/runs/:id/log',
  runLogLines: '/workloads/runs/:id/log/lines',
  runLogLine: '/workloads/runs/:id/log/lines/:number',
  runLogMatches: '/workloads/runs/:id/log/matches',
  runLogStream: '/workloads/runs/:id/log/stream',
  runLogText: '/workloads/runs/:id/log.txt',
  runDebugLog: '/workloads/runs/:id/debug-log.txt',
  runPlanFile: '/workloads/runs/:id/plan.json',
  reviewRun: '/workloads/runs/:id/review',
  requestApproval: '/workloads/runs/:id/request-approval',
  runReviewers: '/workloads/runs/:id/reviewers',
  commentOnRun: '/workloads/runs/:id/comments',
  cancelRun: '/workloads/runs/:id/cancel',
  forceCancelRun: '/workloads/runs/:id/force',
  requeueRun: '/workloads/runs/:id/requeue',
  deleteRun: '/workloads/runs/:id/delete',
  approvals: '/workloads/approvals',
  approvalStream: '/workloads/approvals/stream',
  approvalCount: '/workloads/approvals/count',
  environmentReviewers: '/environments/:id/reviewers',
  teamReviewers: '/organizations/:orgID/teams/:id/reviewers',
} as const satisfies Record<string, LocalPath>;

export const confirmations = {
  [pages.runs]: { deleted: 'Run deleted.' },
  [pages.run]: {
    admitted: 'Run created.',
    commented: 'Comment added.',
    canceled: 'Cancellation requested.',
    forced: 'Run force-canceled.',
    asked: 'Review requested.',
  },
} as const satisfies ConfirmationsOn<typeof pages>;

export const kinds = {
  runs: { kind: 'run', label: 'Runs', icon: 'play', page: ({ id }) => toPath(pages.run, { id }) },
} as const satisfies Record<string, ResourceKind>;
