import { definePlugin, option } from 'framework'
import { z } from 'zod'
import { Id } from './films.ts'

/** The rules, without any HTTP. */
export class Ratings {
  readonly #scores = new Map<number, number[]>()

  add(film: number, score: number): void {
    this.#scores.set(film, [...(this.#scores.get(film) ?? []), score])
  }

  of(film: number): number | undefined {
    const scores = this.#scores.get(film)
    return scores && scores.reduce((sum, score) => sum + score, 0) / scores.length
  }
}

declare module 'framework' {
  interface Services {
    ratings: Ratings
  }
}

export const ratings = definePlugin({
  name: 'ratings',
  options: option.shape({ max: option.int({ min: 2 }).default(5) }),
  provide: () => ({ ratings: new Ratings() }),
  setup(ctx, { max }, { ratings }) {
    const Score = z.object({ score: z.int().min(1).max(max) })
    ctx.post('/films/:id/ratings', { params: Id, body: Score, auth: 'required' }, (req, res) => {
      ratings.add(req.params.id, req.body.score)
      return res.created({ average: ratings.of(req.params.id) })
    })
    ctx.onReady(() => ctx.log.info({ max }, 'ratings are open'))
  },
})
