import numpy as np

from condensity.fitting.selection import descend_grid


def bowl(index):
    return (index[0] - 7) ** 2 + (index[1] - 3) ** 2 + 0.5 * (index[0] - 7) * (index[1] - 3)


def test_descent_reaches_the_minimum_of_a_bowl_with_few_evaluations():
    evaluated = set()

    def loss(index):
        evaluated.add(index)
        return bowl(index)

    assert descend_grid(loss, [(0, 11)], (16, 12), (2, 1)) == (7, 3)
    assert len(evaluated) < 40


def test_descent_begins_at_the_best_start_and_stays_on_the_grid():
    hills = np.array([[0.0, 5.0, 5.0, 5.0, -1.0]])
    starts = [(0, 1), (0, 4)]
    assert descend_grid(lambda i: hills[i], starts, (1, 5), (4, 2, 1)) == (0, 4)
    assert descend_grid(lambda i: hills[i], [(0, 1)], (1, 5), (1,)) == (0, 0)
    assert descend_grid(lambda i: -i[0], [(0,)], (10,), (4,)) == (9,)
