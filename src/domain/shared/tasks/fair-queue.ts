import type { LimitSubject } from './limit-subject.ts';

/**
 * Tasks of many subjects. Owners take turns, and the people of one owner take turns within those. So neither a person with many tasks nor
 * an organization with many people delays the others. At most one task of each person runs at a time.
 */
export class FairQueue<T> {
  /** The owners in the order of their turns, each with its people in the order of theirs. */
  readonly #waiting = new Map<string, Map<string, T[]>>();
  readonly #underWay = new Set<string>();

  /** The number of a person's waiting tasks. */
  count({ person }: Pick<LimitSubject, 'person'>): number {
    let count = 0;
    for (const people of this.#waiting.values()) count += people.get(person)?.length ?? 0;
    return count;
  }

  add({ person, owner }: LimitSubject, task: T): void {
    const people = this.#waiting.get(owner) ?? new Map<string, T[]>();
    this.#waiting.set(owner, people);
    const tasks = people.get(person);
    if (tasks) tasks.push(task);
    else people.set(person, [task]);
  }

  /** Takes the next task. `finish` must follow, so that its person gets another turn. */
  take(): { subject: LimitSubject; task: T } | undefined {
    for (const [owner, people] of this.#waiting) {
      const next = this.#takeOf(people);
      if (!next) continue;
      this.#waiting.delete(owner);
      if (people.size > 0) this.#waiting.set(owner, people);
      return { subject: { person: next.person, owner }, task: next.task };
    }
    return undefined;
  }

  finish({ person }: Pick<LimitSubject, 'person'>): void {
    this.#underWay.delete(person);
  }

  #takeOf(people: Map<string, T[]>): { person: string; task: T } | undefined {
    for (const [person, tasks] of people) {
      if (this.#underWay.has(person)) continue;
      const [task, ...rest] = tasks;
      people.delete(person);
      if (rest.length > 0) people.set(person, rest);
      if (task === undefined) continue;
      this.#underWay.add(person);
      return { person, task };
    }
    return undefined;
  }
}
