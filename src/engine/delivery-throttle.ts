const maximumDeliveries = 16;
/** This many commits in a row, each within `burstGapMs` of the one before, are a burst. */
const burstLength = 16;
const burstGapMs = 50;
/** During a burst, delivery starts again once this many messages wait, or one has waited this long. */
const longBacklog = 1_000;
const longWaitMs = 2_000;
/** What one delivery takes at most, as a rule, when many wait. */
const expectedDeliveryMs = 10;

/**
 * Limits how many deliveries run at the same time. A delivery to the engine costs several times as much as a commit, on the
 * same machines. So callers come first: a burst of commits is answered without deliveries, and the messages go out when the
 * burst pauses, after two seconds, or when a thousand wait.
 */
export class DeliveryThrottle {
  #lastCommitAt = 0;
  #commitsInBurst = 0;

  noteCommit(): void {
    const now = Date.now();
    this.#commitsInBurst = now - this.#lastCommitAt < burstGapMs ? this.#commitsInBurst + 1 : 0;
    this.#lastCommitAt = now;
  }

  /**
   * How many deliveries may run now.
   * @param oldestAt when the oldest waiting message was committed, in milliseconds since the epoch
   */
  limit(waiting: number, oldestAt: number): number {
    const now = Date.now();
    const isBurst = this.#commitsInBurst >= burstLength && now - this.#lastCommitAt < burstGapMs;
    const isOverdue = waiting > longBacklog || now - oldestAt > longWaitMs;
    return isBurst && !isOverdue ? 0 : maximumDeliveries;
  }

  /** How long to wait before asking for the limit again. */
  readonly recheckMs = burstGapMs / 5;

  /** How long the last of that number of waiting messages usually waits. */
  expectedWaitMs(waiting: number): number {
    return waiting * expectedDeliveryMs;
  }
}
