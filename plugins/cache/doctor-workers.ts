import { readFileSync } from 'node:fs'
import type { WorkerPlace } from '../../kernel/index.ts'

/** The sign that the application runs in several processes, as far as one of them can see it. */
export function severalWorkers(own: WorkerPlace | undefined): string | undefined {
  if (own !== undefined && own.of > 1) return `this is worker ${own.number} of ${own.of}`
  const [name, script] = Object.entries(scripts()).find(([, text]) => workers.test(text)) ?? []
  return name === undefined ? undefined : `the script "${name}" of package.json runs ${workers.exec(script!)![0]}`
}

const workers = /(?:--workers|-w)[= ](?:max|[2-9]\d*|1\d+)\b/

function scripts(): Readonly<Record<string, string>> {
  try {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts?: Record<string, string> }
    const ours = Object.entries(scripts ?? {}).filter(([, text]) => typeof text === 'string' && /\bstart\b/.test(text))
    return Object.fromEntries(ours)
  } catch {
    return {}
  }
}
