import type { KindsOfNews } from '#domain/shared/vocabulary/kind-of-news.ts';

/**
 * The notifications about runs. Channels get one for every run that waits for approval. A person gets one only when asked to review the
 * run.
 */
export const runNews = {
  'run.approval_required': {
    label: 'Approval needed',
    toChannels: 'A run needs approval.',
    subject: 'run',
  },
  'run.approval_requested': {
    label: 'Review requested',
    toUsers: 'Your review of a run was requested.',
    subject: 'run',
    asksToAct: true,
  },
  'run.finished': {
    label: 'Run finished',
    toUsers:
      'A run or an assembly run that you requested or are responsible for has finished, or a run failed that changed outputs had started in a team where you may start it.',
    toChannels: 'A run or an assembly run has finished.',
    subject: ['run', 'assembly_run'],
  },
} as const satisfies KindsOfNews;
