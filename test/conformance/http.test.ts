import { httpConformance } from './http.ts'
import { targets } from './targets.ts'

for (const target of targets) httpConformance(target)
