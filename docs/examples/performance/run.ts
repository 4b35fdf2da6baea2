import { measure } from './measure.ts'
import { variants } from './server.ts'

const results = await measure({
  program: new URL('./serve.ts', import.meta.url),
  variants: Object.keys(variants),
  path: '/books',
  rounds: Number(process.env.ROUNDS ?? 9),
  seconds: Number(process.env.SECONDS ?? 1),
})
for (const { variant, cpu, spread, ratio } of results)
  console.log(`${variant.padEnd(8)} ${cpu.toFixed(1)} µs ± ${Math.round(spread * 100)} %  × ${ratio.toFixed(2)}`)
