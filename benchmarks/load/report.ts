import { cpus } from 'node:os'
import { hasProc } from '../support/machine.ts'
import { median, pairedRatio, spread } from '../support/statistics.ts'
import { decimals, percent, section, today } from '../support/table.ts'
import type { BootSeries } from './boot.ts'
import { type MemorySeries, memoryRequests } from './memory.ts'
import type { LoadSeries, LoadSettings } from './schedule.ts'
import { type SocketSeries, socketCount } from './sockets.ts'
import type { WorkersSeries } from './workers.ts'

type Named = { readonly name: string }

/** One column for each reference: how many times cheaper a subject is. */
function ratios<Series extends Named>(
  own: Series,
  all: readonly Series[],
  references: readonly string[],
  values: (series: Series) => readonly number[],
): string[] {
  return references.map((name) => {
    const reference = all.find((one) => one.name === name)!
    return pairedRatio(values(own), values(reference)).toFixed(2)
  })
}

export function loadReport(
  title: string,
  series: readonly LoadSeries[],
  references: readonly string[],
  settings: LoadSettings,
  connections: number,
): string {
  const { generations, rounds, seconds } = settings
  const present = references.filter((name) => series.some((one) => one.name === name))
  const rows = [...series]
    .sort((a, b) => median(a.cost) - median(b.cost))
    .map((one) => [
      one.name,
      decimals(2)(median(one.cost)),
      percent(spread(one.cost)),
      decimals(2)(median(one.user)),
      String(Math.round(median(one.perSecond))),
      ...ratios(one, series, present, (each) => each.cost),
      String(one.headers),
      decimals(0)(median(one.memory)),
    ])
  return section(
    title,
    `${today()}: ${connections} connections, ${generations} generations × ${rounds} rounds × ${seconds} s.`,
    [
      'server',
      `${hasProc ? 'CPU' : 'wall'} µs/req`,
      'IQR',
      'user µs',
      'req/s',
      ...present.map((r) => `× ${r}`),
      'headers',
      'RSS MB',
    ],
    rows,
  )
}

export function bootReport(title: string, series: readonly BootSeries[], references: readonly string[]): string {
  const present = references.filter((name) => series.some((one) => one.name === name))
  const costOf = ({ cpu, wall }: BootSeries) => (hasProc ? cpu : wall)
  const rows = [...series]
    .sort((a, b) => median(costOf(a)) - median(costOf(b)))
    .map((one) => [
      one.name,
      decimals(0)(median(one.cpu)),
      percent(spread(costOf(one))),
      decimals(0)(median(one.wall)),
      decimals(0)(median(one.memory)),
      ...ratios(one, series, present, costOf),
    ])
  return section(
    title,
    `${today()}: from spawn to the first response; ${series[0]?.wall.length ?? 0} starts each.`,
    ['server', 'CPU ms', 'IQR', 'ms', 'RSS MB', ...present.map((r) => `× ${r}`)],
    rows,
  )
}

export function memoryReport(title: string, series: readonly MemorySeries[], references: readonly string[]): string {
  const present = references.filter((name) => series.some((one) => one.name === name))
  const rows = [...series]
    .sort((a, b) => median(a.loaded) - median(b.loaded))
    .map((one) => [
      one.name,
      decimals(0)(median(one.ready)),
      decimals(0)(median(one.loaded)),
      percent(spread(one.loaded)),
      ...ratios(one, series, present, (each) => each.loaded),
    ])
  return section(
    title,
    `${today()}: resident memory at the first response and after ${memoryRequests / 1e6} million; ${series[0]?.loaded.length ?? 0} processes each.`,
    ['server', 'ready MB', 'loaded MB', 'IQR', ...present.map((r) => `× ${r}`)],
    rows,
  )
}

export function workersReport(
  title: string,
  series: readonly WorkersSeries[],
  references: readonly string[],
  { generations, rounds, seconds }: LoadSettings,
): string {
  const rows = [...series]
    .sort((a, b) => median(b.perSecond) - median(a.perSecond))
    .map((one) => [
      one.name,
      String(Math.round(median(one.perSecond))),
      percent(spread(one.perSecond)),
      // More is better here, so the division is the other way round.
      ...references.map((name) =>
        pairedRatio(series.find((other) => other.name === name)!.perSecond, one.perSecond).toFixed(2),
      ),
      decimals(2)(median(one.cost)),
    ])
  return section(
    title,
    `${today()}: 100 connections, ${generations} generations × ${rounds} rounds × ${seconds} s; ${cpus().length} cores for the processes and the load together.`,
    ['server', 'req/s', 'IQR', ...references.map((name) => `× ${name}`), 'CPU µs/req'],
    rows,
  )
}

/** Writes two tables, since a goal refers to one figure per table. */
export function socketReport(
  title: string,
  series: readonly SocketSeries[],
  references: readonly string[],
  { generations, rounds, seconds }: LoadSettings,
): string {
  const present = references.filter((name) => series.some((one) => one.name === name))
  const part = (heading: string, note: string, unit: string, values: (one: SocketSeries) => readonly number[]) =>
    section(
      heading,
      note,
      ['server', unit, 'IQR', ...present.map((name) => `× ${name}`)],
      [...series]
        .sort((a, b) => median(values(a)) - median(values(b)))
        .map((one) => [
          one.name,
          decimals(2)(median(values(one))),
          percent(spread(values(one))),
          ...ratios(one, series, present, values),
        ]),
    )
  return [
    part(
      title,
      `${today()}: ${generations} generations × ${rounds} rounds × ${seconds} messages to ${socketCount} sockets.`,
      'CPU µs/message',
      ({ cost }) => cost,
    ),
    part(
      memoryTitle(title),
      `${today()}: resident memory after a full collection; ${generations} processes each.`,
      'kB/socket',
      ({ memory }) => memory,
    ),
  ].join('\n')
}

/** The heading of the second table of a socket suite. */
export const memoryTitle = (title: string) => `${title}: memory`
