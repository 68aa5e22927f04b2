const atOnce = 16;
/** So many commits that follow each other so closely are a rush: callers who wait for theirs come first. */
const commitsOfRush = 16;
const commitsFollowMs = 50;
/** Beyond either, delivering comes first again. */
const longBacklog = 1_000;
const longWaitMs = 2_000;
/** What a delivery takes at most, as a rule, where many wait: by it a process foresees how long its own ones need. */
const foreseenMs = 10;

/**
 * How much is delivered at the same time. Telling the engine costs several times what a commit does, on the same machines:
 * a rush is answered first, and what it left is delivered as soon as it pauses, after two seconds, or when a thousand wait.
 */
export class Pace {
  #lastCommitAt = 0;
  #following = 0;

  committed(): void {
    const now = Date.now();
    this.#following = now - this.#lastCommitAt < commitsFollowMs ? this.#following + 1 : 0;
    this.#lastCommitAt = now;
  }

  /** `oldestAt`: when the first of those that wait was committed. */
  allowed(waiting: number, oldestAt: number): number {
    const now = Date.now();
    const isRush = this.#following >= commitsOfRush && now - this.#lastCommitAt < commitsFollowMs;
    const isPressing = waiting > longBacklog || now - oldestAt > longWaitMs;
    return isRush && !isPressing ? 0 : atOnce;
  }

  /** When to look again, for more may be allowed by then. */
  readonly lookAgainMs = commitsFollowMs / 5;

  foresee(waiting: number): number {
    return waiting * foreseenMs;
  }
}
