import { createHash } from 'node:crypto';
import { ServiceError, Unprocessable } from '#domain/shared/errors.ts';
import { FairQueue } from '#domain/shared/tasks/fair-queue.ts';
import { isCheap } from '../variables/cost.ts';
import type { JsonObject } from '../variables/engine.ts';
import type { VariableError } from '../variables/errors.ts';
import { type ValidationResult, type VariableValues, validateVariables } from '../variables/variables.ts';
import type { Evaluations, Kind, Task } from './messages.ts';
import { type Budget, ProcessorBudget } from './processor-budget.ts';
import { type Evaluated, EvaluationThread, readEvaluationProgram } from './thread.ts';

const threadCount = 2;
const mostWaiting = 100;
/** Ten seconds of processor time a minute: hundreds of thousands of ordinary evaluations, or twenty that reach their limit. */
const standardBudget: Budget = { milliseconds: 10_000, windowSeconds: 60 };

interface Job {
  readonly task: Task;
  readonly schema: JsonObject | null;
  readonly settle: PromiseWithResolvers<Evaluated>;
}

/**
 * Evaluates the schemas of template authors. What could take long is done by threads of low priority, one task of a principal at a
 * time, under a time limit and a budget of processor time. So neither a schema nor an input delays other requests.
 */
export class VariableEvaluator {
  readonly #idle = Array.from({ length: threadCount }, () => new EvaluationThread());
  readonly #threads = [...this.#idle];
  readonly #queue = new FairQueue<Job>();
  readonly #budget: ProcessorBudget;

  constructor(budget: Budget = standardBudget) {
    this.#budget = new ProcessorBudget(budget);
  }

  /**
   * `validateVariables` on behalf of a principal. The main thread does cheap evaluations at once.
   * @throws Unprocessable if the evaluation takes too long; ServiceError (limited) if the principal has used up its budget or has too
   * many evaluations waiting
   */
  async validate(
    principalId: string,
    schema: JsonObject,
    input: VariableValues,
    secrets: readonly string[] = [],
  ): Promise<ValidationResult> {
    if (isCheap(schema, input)) return validateVariables(schema, input, secrets);
    const task = { kind: 'validate', digest: schemaDigest(schema), input, secrets } as const;
    return this.#evaluate<'validate'>(principalId, task, schema);
  }

  /** `checkSchema` on behalf of a principal. @throws as `validate` */
  check(principalId: string, schema: JsonObject): Promise<VariableError[]> {
    return this.#evaluate<'check'>(principalId, { kind: 'check', schema }, null);
  }

  /** Anything else that a thread can do, on behalf of a principal. @throws as `validate` */
  run<K extends Kind>(principalId: string, task: Task & { readonly kind: K }): Promise<Evaluations[K]['result']> {
    return this.#evaluate<K>(principalId, task, null);
  }

  /** Counts processor time that was used on behalf of a principal. */
  charge(principalId: string, milliseconds: number): void {
    this.#budget.charge(principalId, milliseconds);
  }

  /**
   * Starts the threads and keeps their code, from which they start again. Call it while the process may read its code: one that root
   * started may not be able to later.
   */
  async start(): Promise<void> {
    const program = await readEvaluationProgram();
    for (const thread of this.#threads) thread.keepProgram(program);
    await Promise.all(this.#threads.map((thread) => thread.run({ kind: 'check', schema: {} }, null)));
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.close()));
  }

  async #evaluate<K extends Kind>(
    principalId: string,
    task: Task,
    schema: JsonObject | null,
  ): Promise<Evaluations[K]['result']> {
    const settle = Promise.withResolvers<Evaluated>();
    this.#refuseSpent(principalId);
    if (this.#queue.count(principalId) >= mostWaiting) throw tooManyWaiting();
    this.#queue.add(principalId, { task, schema, settle });
    this.#next();
    const evaluated = await settle.promise;
    if (evaluated.outcome === 'failed') throw new Error(`an evaluation failed: ${evaluated.reason}`);
    if (evaluated.outcome === 'too_costly') throw tooCostly(task.kind);
    return evaluated.result as Evaluations[K]['result'];
  }

  #next(): void {
    const thread = this.#idle.pop();
    if (!thread) return;
    const next = this.#queue.take();
    if (!next) return void this.#idle.push(thread);
    void this.#run(thread, next.owner, next.task).finally(() => {
      this.#queue.finish(next.owner);
      this.#idle.push(thread);
      this.#next();
    });
    this.#next();
  }

  async #run(thread: EvaluationThread, principalId: string, { task, schema, settle }: Job): Promise<void> {
    try {
      this.#refuseSpent(principalId);
      const evaluated = await thread.run(task, schema);
      this.charge(principalId, evaluated.usedMs);
      settle.resolve(evaluated);
    } catch (error) {
      settle.reject(error);
    }
  }

  #refuseSpent(principalId: string): void {
    const seconds = this.#budget.secondsUntilFree(principalId);
    if (seconds > 0) throw budgetSpent(seconds);
  }
}

const digests = new WeakMap<JsonObject, string>();

function schemaDigest(schema: JsonObject): string {
  const digest = digests.get(schema) ?? createHash('sha256').update(JSON.stringify(schema)).digest('base64');
  digests.set(schema, digest);
  return digest;
}

const schemaTooCostly =
  'the schema of the template took too long to evaluate: simplify its references, alternatives and patterns, or send fewer values';

/** What took too long, and how it takes less time. */
const costs: Readonly<Record<Kind, string>> = {
  validate: schemaTooCostly,
  check: schemaTooCostly,
  read_draft:
    'the text of the draft took too long to read: write it as JSON, which is read much faster than YAML, or shorten it',
  examine_conditions: 'the conditions of the nodes took too long to check: simplify them',
  evaluate_condition: 'the condition took too long to evaluate: simplify its loops, or let it read less',
  diff: 'the specs took too long to compare: simplify their conditions',
  lay_out: 'the graph took too long to draw',
};

function tooCostly(kind: Kind): Unprocessable {
  const isSchema = kind === 'validate' || kind === 'check';
  return new Unprocessable(costs[kind], { code: isSchema ? 'schema_too_costly' : 'assembly_too_costly' });
}

function budgetSpent(seconds: number): ServiceError {
  return limited('you have used up the time for evaluating schemas and assemblies: wait, or simplify them', seconds);
}

function tooManyWaiting(): ServiceError {
  return limited(`you have ${mostWaiting} evaluations waiting, the most allowed: wait for them`, 1);
}

function limited(message: string, retryAfter: number): ServiceError {
  return new ServiceError('limited', message, { code: 'evaluation_budget_exhausted', retryAfter });
}
