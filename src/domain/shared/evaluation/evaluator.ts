import { createHash } from 'node:crypto';
import { constants } from 'node:os';
import { ServiceError, Unprocessable } from '../errors.ts';
import { FairQueue } from '../tasks/fair-queue.ts';
import type { LimitSubject } from '../tasks/limit-subject.ts';
import type { Task } from './messages.ts';
import { type Budget, ProcessorBudget } from './processor-budget.ts';
import { type Evaluated, EvaluationThread, readEvaluationProgram } from './thread.ts';
import type { Work } from './work.ts';

const threadCount = 2;
const maxWaiting = 100;
/**
 * Ten seconds of processor time per minute for each person: enough for hundreds of thousands of ordinary evaluations, or for twenty that
 * reach their limit. All people of an organization together may use half of the threads' time.
 */
const standardBudget: Budget = { milliseconds: 10_000, sharesOfOwner: 6, windowSeconds: 60 };

interface Job {
  readonly task: Task;
  readonly value: object | null;
  readonly settle: PromiseWithResolvers<Evaluated>;
}

/**
 * Runs work whose duration depends on input from outside the service, such as schemas, conditions and graphs. Threads of low priority run
 * it, one task per person at a time, under a time limit and a budget of processor time. So it delays no other requests.
 */
export class Evaluator {
  readonly #idle: EvaluationThread[];
  readonly #threads: readonly EvaluationThread[];
  readonly #queue = new FairQueue<Job>();
  readonly #budget: ProcessorBudget;

  /** The threads have a low priority, so that they hardly delay the main thread and the database on a busy machine. */
  constructor(
    budget: Budget = standardBudget,
    { priority = constants.priority.PRIORITY_BELOW_NORMAL }: { readonly priority?: number | null } = {},
  ) {
    this.#budget = new ProcessorBudget(budget);
    this.#threads = Array.from({ length: threadCount }, () => new EvaluationThread(priority));
    this.#idle = [...this.#threads];
  }

  /**
   * Runs work on behalf of a subject.
   * @throws Unprocessable if it takes too long; ServiceError (limited) if the subject has used up its budget or has too many evaluations
   * waiting
   */
  async run<Input, Result, Prepared>(
    subject: LimitSubject,
    work: Work<Input, Result, Prepared>,
    input: Input,
  ): Promise<Result> {
    const evaluated = await this.#enqueue(subject, toTask(work, input));
    if (evaluated.outcome === 'failed') throw new Error(`an evaluation failed: ${evaluated.reason}`);
    if (evaluated.outcome === 'too_costly') throw new Unprocessable(work.tooCostly.message, work.tooCostly);
    return evaluated.result as Result;
  }

  /** Counts processor time that was used on behalf of a subject. */
  charge(subject: LimitSubject, milliseconds: number): void {
    this.#budget.charge(subject, milliseconds);
  }

  /**
   * Keeps the code of the threads, from which they start with the first task. Call it while the process may read its code: one that root
   * started may not be able to later.
   */
  async keepCode(): Promise<void> {
    const program = await readEvaluationProgram();
    for (const thread of this.#threads) thread.keepProgram(program);
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  #enqueue(subject: LimitSubject, job: Pick<Job, 'task' | 'value'>): Promise<Evaluated> {
    const settle = Promise.withResolvers<Evaluated>();
    this.#refuseSpent(subject);
    if (this.#queue.count(subject) >= maxWaiting) throw tooManyWaiting();
    this.#queue.add(subject, { ...job, settle });
    this.#next();
    return settle.promise;
  }

  #next(): void {
    const thread = this.#idle.pop();
    if (!thread) return;
    const next = this.#queue.take();
    if (!next) return void this.#idle.push(thread);
    void this.#do(thread, next.subject, next.task).finally(() => {
      this.#queue.finish(next.subject);
      this.#idle.push(thread);
      this.#next();
    });
    this.#next();
  }

  async #do(thread: EvaluationThread, subject: LimitSubject, { task, value, settle }: Job): Promise<void> {
    try {
      this.#refuseSpent(subject);
      const evaluated = await thread.run(task, value);
      this.charge(subject, evaluated.usedMs);
      settle.resolve(evaluated);
    } catch (error) {
      settle.reject(error);
    }
  }

  #refuseSpent(subject: LimitSubject): void {
    const seconds = this.#budget.secondsUntilFree(subject);
    if (seconds > 0) throw budgetSpent(seconds);
  }
}

/** Splits an input into the task and the value that the thread remembers. */
function toTask<Input, Result, Prepared>(
  { kind, remembers: member }: Work<Input, Result, Prepared>,
  input: Input,
): Pick<Job, 'task' | 'value'> {
  if (member === undefined) return { task: { kind, input, remembered: null }, value: null };
  const { [member]: value, ...rest } = input as Record<PropertyKey, object>;
  if (value === undefined)
    throw new Error(`the work ${kind} remembers ${String(member)}, which its input does not have`);
  return { task: { kind, input: rest, remembered: { member, digest: digestOf(value) } }, value };
}

const digests = new WeakMap<object, string>();

function digestOf(value: object): string {
  const digest = digests.get(value) ?? createHash('sha256').update(JSON.stringify(value)).digest('base64');
  digests.set(value, digest);
  return digest;
}

function budgetSpent(seconds: number): ServiceError {
  return limited(
    'you, or the people of this organization together, have used up the time for evaluating schemas and assemblies: wait, or simplify them',
    seconds,
  );
}

function tooManyWaiting(): ServiceError {
  return limited(`you have ${maxWaiting} waiting evaluations, and may not have more: wait until one has ended`, 1);
}

function limited(message: string, retryAfter: number): ServiceError {
  return new ServiceError('limited', message, { code: 'evaluation_budget_exhausted', retryAfter });
}
