interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** The functions of a `.cpuprofile` that took most time, callees excluded, with their percentage of the time that was not idle. */
export function hottest({ nodes, samples, timeDeltas }: Profile, count = 10) {
  const times = new Map<number, number>()
  for (const [i, id] of samples.entries()) times.set(id, (times.get(id) ?? 0) + timeDeltas[i]!)
  const places = new Map<string, number>()
  let all = 0
  for (const { id, callFrame } of nodes) {
    const { functionName, url, lineNumber } = callFrame
    const time = times.get(id) ?? 0
    if (functionName === '(idle)') continue
    const place = `${functionName || '(anonymous)'} ${url}${url === '' ? '' : `:${lineNumber + 1}`}`.trim()
    places.set(place, (places.get(place) ?? 0) + time)
    all += time
  }
  return [...places]
    .sort(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([place, time]) => ({ place, percent: Math.round((time / all) * 1000) / 10 }))
}
