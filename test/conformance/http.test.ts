import { httpConformance } from './http.ts'
import { adapters } from './targets.ts'

for (const target of adapters) httpConformance(target)
