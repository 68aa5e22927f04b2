import {
  applying,
  execute,
  finish,
  finished,
  lost,
  missing,
  planning,
  running,
  secondsAgo,
  table,
} from '#test/support/runs/step-facts.ts';

table('a queued run', [
  ['begins where the pool is open, the instance is free and a worker lives', {}, { kind: 'begin' }],
  ['fails where the pool was closed to it', { poolIsOpen: false }, finish('failed', 'pool_closed')],
  [
    'waits for the run that is ahead of it',
    { blocker: { id: 'other', position: 2 } },
    { kind: 'wait', seconds: 300, waitingOn: { code: 'instance_busy', position: 2, blocker: 'other' } },
  ],
  [
    'waits for the run ahead before it looks for a worker',
    { blocker: { id: 'other', position: 1 }, hasWorker: false },
    { kind: 'wait', seconds: 300, waitingOn: { code: 'instance_busy', position: 1, blocker: 'other' } },
  ],
  [
    'fails as stale where the instance is not as it was when it was asked for, whether or not there is a worker',
    { isPinCurrent: false, hasWorker: false },
    finish('failed', 'stale'),
  ],
  [
    'waits for the run that is ahead of it before it looks at the instance, which that run may change',
    { isPinCurrent: false, blocker: { id: 'other', position: 1 } },
    { kind: 'wait', seconds: 300, waitingOn: { code: 'instance_busy', position: 1, blocker: 'other' } },
  ],
  [
    'waits where no worker may take it',
    { hasWorker: false },
    { kind: 'wait', seconds: 5, waitingOn: { code: 'no_worker' } },
  ],
  [
    'fails because of a closed pool before it waits',
    { poolIsOpen: false, hasWorker: false },
    finish('failed', 'pool_closed'),
  ],
]);

const scan = { operation: 'scan' } as const;
const stale = finish('failed', 'plan_moved');
table('a scan', [
  ['begins where no run changes the instance', { run: scan }, { kind: 'begin' }],
  ['gives way to a run that is changing the instance', { run: scan, isChanging: true }, finish('canceled', 'gave_way')],
  ['succeeds with deviations, without any approval', finished(planning, 'planned', { run: scan }), finish('succeeded')],
  ['succeeds without deviations', finished(planning, 'unchanged', { run: scan }), finish('succeeded')],
  [
    'fails where the state moved while it looked, whatever it found',
    finished(planning, 'planned', { run: scan, planIsCurrent: false }),
    stale,
  ],
  [
    'fails where the state moved while it looked, although it found nothing',
    finished(planning, 'unchanged', { run: scan, planIsCurrent: false }),
    stale,
  ],
  ['looks again where its worker was lost', missing(planning, { run: scan }), execute('planning', { closes: lost })],
  [
    'fails once its third worker was lost',
    missing(planning, { run: scan, lostAttempts: 2 }),
    finish('failed', 'plan_interrupted', { closes: lost }),
  ],
  [
    'ends as canceled for the reason for which it gave way',
    finished(planning, 'planned', { run: { ...scan, status: 'canceling', statusReason: 'gave_way' } }),
    finish('canceled', 'gave_way'),
  ],
]);

table('a running run whose attempt is open', [
  ['has it executed where the workflow has not executed it', running(planning), { kind: 'resume' }],
  [
    'has it executed where the workflow has executed an older one',
    running(planning, { executed: 'older' }),
    { kind: 'resume' },
  ],
  ['waits while its worker is alive', missing(applying, { workerLiveness: 'alive' }), { kind: 'wait', seconds: 6 }],
  [
    'waits while its worker is alive, although it was suspected',
    missing(applying, { workerLiveness: 'alive', suspected: true }),
    { kind: 'wait', seconds: 6 },
  ],
  [
    'waits once more where its worker is silent',
    missing(applying, { workerLiveness: 'silent' }),
    { kind: 'wait', seconds: 6, suspects: true },
  ],
  [
    'fails a silent apply at the second look',
    missing(applying, { workerLiveness: 'silent', suspected: true }),
    finish('failed', 'apply_interrupted', { closes: lost }),
  ],
  [
    'fails an apply at once whose worker is gone',
    missing(applying, { workerLiveness: 'gone' }),
    finish('failed', 'apply_interrupted', { closes: lost }),
  ],
  [
    'loses an apply that takes longer than its limit, although its worker is alive',
    missing({ ...applying, startedAt: secondsAgo(1501) }, { workerLiveness: 'alive' }),
    finish('failed', 'apply_interrupted', { closes: lost }),
  ],
  [
    'waits for an apply up to its limit',
    missing({ ...applying, startedAt: secondsAgo(1499) }, { workerLiveness: 'alive' }),
    { kind: 'wait', seconds: 6 },
  ],
  [
    'plans again where the worker of a plan is gone',
    missing(planning, { workerLiveness: 'gone' }),
    execute('planning', { closes: lost }),
  ],
  [
    'plans again after the second loss',
    missing(planning, { workerLiveness: 'gone', lostAttempts: 1 }),
    execute('planning', { closes: lost }),
  ],
  [
    'fails after the third lost plan',
    missing(planning, { workerLiveness: 'gone', lostAttempts: 2 }),
    finish('failed', 'plan_interrupted', { closes: lost }),
  ],
  [
    'applies again where that is safe',
    missing(applying, { workerLiveness: 'gone', run: { retrySafe: true } }),
    execute('applying', { closes: lost }),
  ],
  [
    'fails after the third lost apply, safe or not',
    missing(applying, { workerLiveness: 'gone', lostAttempts: 2, run: { retrySafe: true } }),
    finish('failed', 'apply_interrupted', { closes: lost }),
  ],
  [
    'executes a plan anew that no worker had taken',
    missing({ ...planning, workerId: null }),
    execute('planning', { closes: { outcome: 'handed_back', isReported: false } }),
  ],
  [
    'executes an apply anew that no worker had taken',
    missing({ ...applying, workerId: null }),
    execute('applying', { closes: { outcome: 'handed_back', isReported: false } }),
  ],
]);

const nobody = { required: 0, when: 'always', allow_self: false } as const;
const forDestruction = { required: 1, when: 'destroys', allow_self: false } as const;
const needsNobody = { policy: nobody };
table('a running run whose attempt has ended', [
  ['asks for approval of a plan with changes', finished(planning, 'planned'), { kind: 'ask_approval', seconds: 3600 }],
  ['applies a plan at once that needs no approval', finished(planning, 'planned', needsNobody), { kind: 'apply' }],
  [
    'applies a plan at once where only destruction needs approval and it adds',
    finished(planning, 'planned', {
      policy: forDestruction,
      run: { planSummary: { add: 1, change: 0, destroy: 0 } },
    }),
    { kind: 'apply' },
  ],
  [
    'asks for approval where only destruction needs it and the plan destroys',
    finished(planning, 'planned', {
      policy: forDestruction,
      run: { planSummary: { add: 0, change: 0, destroy: 1 } },
    }),
    { kind: 'ask_approval', seconds: 3600 },
  ],
  [
    'asks for approval where only destruction needs it and the operation is destroy',
    finished(planning, 'planned', { policy: forDestruction, run: { operation: 'destroy' } }),
    { kind: 'ask_approval', seconds: 3600 },
  ],
  [
    'succeeds with a plan where nothing else was asked for',
    finished(planning, 'planned', { run: { operation: 'plan' } }),
    finish('succeeded'),
  ],
  ['succeeds where the plan changes nothing', finished(planning, 'unchanged'), finish('succeeded')],
  [
    'fails where the instance changed after the plan',
    finished(planning, 'planned', { ...needsNobody, planIsCurrent: false }),
    finish('failed', 'plan_moved'),
  ],
  ['succeeds once it is applied', finished(applying, 'applied'), finish('succeeded')],
  ['plans anew where the plan was handed back', finished(planning, 'handed_back'), execute('planning')],
  ['applies anew where the apply was handed back', finished(applying, 'handed_back'), execute('applying')],
  ['plans again after its first lost plan', finished(planning, 'lost', { lostAttempts: 1 }), execute('planning')],
  [
    'fails after its third lost plan',
    finished(planning, 'lost', { lostAttempts: 3 }),
    finish('failed', 'plan_interrupted'),
  ],
  ['fails after a lost apply', finished(applying, 'lost', { lostAttempts: 1 }), finish('failed', 'apply_interrupted')],
  [
    'applies again after a lost apply where that is safe',
    finished(applying, 'lost', { lostAttempts: 1, run: { retrySafe: true } }),
    execute('applying'),
  ],
  ['is canceled where its attempt was', finished(applying, 'canceled'), finish('canceled', 'canceled_by_user')],
  ['is timed out where planning took too long', finished(planning, 'timed_out'), finish('timed_out', 'plan_timeout')],
  ['is timed out where applying took too long', finished(applying, 'timed_out'), finish('timed_out', 'apply_timeout')],
  [
    'names the timeout of a step before that of its phase',
    finished(applying, 'timed_out', { run: { statusReason: 'step_timeout' } }),
    finish('timed_out', 'step_timeout'),
  ],
  [
    'fails with the reason of its attempt',
    finished(applying, 'failed', { run: { statusReason: 'step_failed' } }),
    finish('failed', 'step_failed'),
  ],
  [
    'fails with the reason of its phase where a failed plan gave none',
    finished(planning, 'failed'),
    finish('failed', 'plan_failed'),
  ],
  [
    'fails with the reason of its phase where a failed apply gave none',
    finished(applying, 'failed'),
    finish('failed', 'apply_failed'),
  ],
]);
