import type { EntityClass, EntitySchema, RequiredEntityData } from '@mikro-orm/core';
import type { Em } from '#database/database.ts';
import { InstanceSlot } from '#domain/instances/entity.ts';
import { RunReview } from '#domain/runs/approval/entity.ts';
import { RunComment } from '#domain/runs/comments/entity.ts';
import { Run, RunAttempt } from '#domain/runs/entity.ts';
import { RunLogChunkSchema } from '#domain/runs/log/entity.ts';
import { RunPlan } from '#domain/runs/plans/entity.ts';
import { noSections } from '#domain/runs/plans/sections.ts';
import { DomainEvent } from '#domain/shared/events/entity.ts';
import type { TestApi } from '../../api/in-process-api.ts';
import { toAttemptRows } from './attempt-rows.ts';
import { reviewTime, toEventRows } from './event-rows.ts';
import { idAt } from './ids.ts';
import { writeInstances } from './instance-rows.ts';
import type { Place } from './places.ts';
import { digestOfPlan, type RunPosition, toRunRow } from './run-row.ts';
import { hasPlan, isFinished, type RunStory, type Timeline, timelineOf } from './stories/story.ts';

/** A run with its place among those of its instance. */
export interface PlacedRun {
  readonly story: RunStory;
  readonly time: Timeline;
  readonly at: RunPosition;
}

/** Writes the rows of these runs and of their instances. The workers are by pool. */
export async function writeRuns(
  api: TestApi,
  stories: readonly RunStory[],
  workers: (story: RunStory) => string,
): Promise<void> {
  const { keyRing, orm } = api.services;
  const attempts = new Map(stories.map((story) => [story.id, toAttemptRows(story, timelineOf(story), workers(story))]));
  const placed = placeRuns(stories, (story) => attempts.get(story.id)?.current ?? null);
  await orm.em.fork().transactional(async (em) => {
    await writeInstances(em, keyRing, placed);
    await insertAll(
      em,
      Run,
      placed.map(({ story, time, at }) => toRunRow(keyRing, story, time, at)),
    );
    await insertAll(
      em,
      RunAttempt,
      [...attempts.values()].flatMap(({ rows }) => rows),
    );
    await insertAll(
      em,
      RunLogChunkSchema,
      [...attempts.values()].flatMap(({ chunks }) => chunks),
    );
    await insertAll(em, RunPlan, placed.flatMap(toPlanRows));
    await insertAll(em, RunReview, placed.flatMap(toReviewRows));
    await insertAll(em, RunComment, placed.flatMap(toCommentRows));
    await insertAll(em, DomainEvent, placed.flatMap(({ story, time }) => toEventRows(story, time)) as never[]);
    await insertAll(em, InstanceSlot, placed.flatMap(toSlotRows));
  });
}

const rowsPerStatement = 100;

export async function insertAll<Entity extends object>(
  em: Em,
  entity: EntityClass<Entity> | EntitySchema<Entity>,
  rows: readonly NoInfer<RequiredEntityData<Entity>>[],
): Promise<void> {
  for (let start = 0; start < rows.length; start += rowsPerStatement)
    await em.insertMany(
      entity as EntityClass<Entity>,
      rows.slice(start, start + rowsPerStatement) as RequiredEntityData<Entity>[],
    );
}

/** Numbers the runs of each instance in the order of their times. */
function placeRuns(stories: readonly RunStory[], attemptOf: (story: RunStory) => string | null): PlacedRun[] {
  const last = new Map<Place, { position: number; serial: number }>();
  return stories
    .toSorted((one, other) => one.at - other.at)
    .map((story) => {
      const { position, serial } = last.get(story.place) ?? { position: 0, serial: 0 };
      const serialAfter = writesState(story) ? serial + 1 : null;
      last.set(story.place, { position: position + 1, serial: serialAfter ?? serial });
      const at = {
        position: position + 1,
        version: versionAt(story),
        serialBefore: serial,
        serialAfter,
        attemptId: attemptOf(story),
      };
      return { story, time: timelineOf(story), at };
    });
}

function writesState({ status, reached, operation }: RunStory): boolean {
  return status === 'succeeded' && reached === 'applying' && operation !== 'plan';
}

/** The versions of a template appeared one after the other over the months. */
function versionAt({ place, at }: RunStory): RunPosition['version'] {
  const { versions } = place.template;
  const months = (Date.now() - at) / (30 * 24 * 60 * 60_000);
  const version = versions[Math.max(0, versions.length - 1 - Math.floor(months))] ?? versions.at(-1);
  if (!version) throw new Error(`the template ${place.template.key} has no versions`);
  return version;
}

function toPlanRows({ story, time, at }: PlacedRun): RequiredEntityData<RunPlan>[] {
  if (!hasPlan(story) || time.planned === null) return [];
  const digest = digestOfPlan(story.id);
  const artifact = isFinished(story) ? null : Buffer.from('a plan file');
  return [
    {
      runId: story.id,
      digest,
      executorDigest: digest,
      changes: [...story.changes],
      sections: story.sections ?? noSections,
      artifact,
      stateSerial: at.serialBefore,
      createdAt: new Date(time.planned),
    },
  ];
}

function toReviewRows({ story, time }: PlacedRun): RequiredEntityData<RunReview>[] {
  const { planned } = time;
  if (planned === null) return [];
  return story.reviews.map(({ by, decision, comment }, index) => {
    const at = reviewTime(planned, story.seconds.approval, index, story.reviews.length);
    return {
      id: idAt(at),
      runId: story.id,
      reviewerId: by.id,
      reviewerType: by.kind,
      reviewerName: by.name,
      responsibleUserId: by.responsibleId,
      decision,
      comment,
      planDigest: digestOfPlan(story.id),
      createdAt: new Date(at),
    };
  });
}

function toCommentRows({ story }: PlacedRun): RequiredEntityData<RunComment>[] {
  return story.comments.map(({ by, text, after }) => {
    const at = story.at + after * 1000;
    return {
      id: idAt(at),
      runId: story.id,
      authorId: by.id,
      authorType: by.kind,
      authorName: by.name,
      text,
      createdAt: new Date(at),
    };
  });
}

/** A writer that has begun and not ended holds its instance. */
function toSlotRows({ story, time }: PlacedRun): RequiredEntityData<InstanceSlot>[] {
  if (isFinished(story) || time.started === null || story.operation === 'plan') return [];
  return [{ instanceId: story.place.id, runId: story.id, acquiredAt: new Date(time.started) }];
}
