/**
 * Tasks of several owners. Owners take turns, so that one with many tasks does not delay the others, and each has at most one
 * task under way.
 */
export class FairQueue<T> {
  /** The owners in the order of their turns. */
  readonly #waiting = new Map<string, T[]>();
  readonly #underWay = new Set<string>();

  /** The number of an owner's waiting tasks. */
  count(owner: string): number {
    return this.#waiting.get(owner)?.length ?? 0;
  }

  add(owner: string, task: T): void {
    const tasks = this.#waiting.get(owner);
    if (tasks) tasks.push(task);
    else this.#waiting.set(owner, [task]);
  }

  /** Takes the next task. `finish` must follow, so that its owner gets another turn. */
  take(): { owner: string; task: T } | undefined {
    for (const [owner, tasks] of this.#waiting) {
      if (this.#underWay.has(owner)) continue;
      const task = tasks.shift();
      this.#waiting.delete(owner);
      if (tasks.length > 0) this.#waiting.set(owner, tasks);
      if (task === undefined) continue;
      this.#underWay.add(owner);
      return { owner, task };
    }
    return undefined;
  }

  finish(owner: string): void {
    this.#underWay.delete(owner);
  }
}
