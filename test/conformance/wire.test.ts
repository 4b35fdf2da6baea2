import { targets } from './targets.ts'
import { wireConformance } from './wire.ts'

for (const target of targets) wireConformance(target)
