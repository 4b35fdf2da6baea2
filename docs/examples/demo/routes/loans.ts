import { router } from 'framework'
import { textField } from '../input.ts'
import { member } from '../middlewares/member.ts'

// Everything about loans is for members: the group's middleware stands before each of its routes.
router.group('/loans', [member], (loans) => {
  loans.get('/', (req) => req.library.loansOf(req.member.id))

  loans.post('/', (req, res) => {
    res.created(req.library.lend(textField(req.body, 'book'), req.member.id))
  })

  loans.delete('/:id', (req, res) => {
    req.library.takeBack(req.params.id, req.member.id)
    res.noContent()
  })
})
