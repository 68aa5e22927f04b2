import type { People } from '../../people.ts';
import { Random } from '../../random.ts';
import { idAt } from '../ids.ts';
import { type Actor, type PlaceKey, type Places, toActor } from '../places.ts';
import { changeSome } from '../plans.ts';
import type { RunStory, StoryReview } from './story.ts';

/** What a story says of itself; `ago` is how many milliseconds before now the run was admitted. */
export type Part = Partial<Omit<RunStory, 'place' | 'seconds' | 'at'>> & {
  readonly ago: number;
  readonly seconds?: Partial<RunStory['seconds']>;
};

/** Tells the runs of today, one by one. */
export class Narrator {
  readonly places: Places;
  readonly random = new Random(1140);
  readonly now = Date.now();
  readonly #people: People;

  constructor(places: Places, people: People) {
    this.places = places;
    this.#people = people;
  }

  actor(key: keyof People): Actor {
    return toActor(this.#people[key]);
  }

  approvals(...keys: (keyof People)[]): StoryReview[] {
    const comment = 'Compared with staging: same changes.';
    return keys.map((key) => ({ by: this.actor(key), decision: 'approve', comment }));
  }

  /** A run of an instance that succeeded, unless the parts say otherwise. */
  tell(key: PlaceKey, { ago, seconds, ...part }: Part): RunStory {
    const place = this.places.at(key);
    const at = this.now - ago;
    return {
      id: idAt(at),
      place,
      operation: 'apply',
      by: this.random.pick(place.requesters),
      at,
      message: '',
      status: 'succeeded',
      reached: 'applying',
      reason: null,
      waitingOn: null,
      changes: changeSome(place.resources, this.random, 'apply'),
      required: 0,
      reviews: [],
      comments: [],
      asked: [],
      requeuedFrom: null,
      log: null,
      ...part,
      seconds: { queue: 2, plan: 20, approval: 600, apply: 120, ...seconds },
    };
  }
}
