"""`python -m bench.serving.plain_app PORT`: what one writes in an afternoon with FastAPI, pandas and scikit-learn."""

import sys

import pandas as pd
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from bench.serving.claims import CATEGORIES, DEPTH, MIN_LEAF, answers_of, columns_of, trained_on


class Claim(BaseModel):
    """A record."""

    amount: float
    income: float
    balance: float
    age: int
    months: int
    days_since_contact: int
    purpose: str
    employment: str
    housing: str
    region: str


class Claims(BaseModel):
    """What is asked."""

    records: list[Claim]


class Answer(BaseModel):
    """What is answered for a record."""

    label: str
    probabilities: dict[str, float]


def trained() -> Pipeline:
    """Categories become columns of zeros and ones, numbers stay."""
    encoder = ColumnTransformer([("words", OneHotEncoder(), list(CATEGORIES))], remainder="passthrough")
    tree = DecisionTreeClassifier(max_depth=DEPTH, min_samples_leaf=MIN_LEAF, random_state=0)
    data = trained_on()
    return make_pipeline(encoder, tree).fit(pd.DataFrame(columns_of(data)), list(answers_of(data)))


def create_app() -> FastAPI:
    """One route, typed, with the model in memory."""
    app, model = FastAPI(), trained()

    @app.post("/predict")
    def predict(body: Claims) -> list[Answer]:
        table = pd.DataFrame([claim.model_dump() for claim in body.records])
        shares = model.predict_proba(table)
        labels = model.classes_[shares.argmax(axis=1)]
        return [
            Answer(label=label, probabilities=dict(zip(model.classes_, row, strict=True)))
            for label, row in zip(labels, shares.tolist(), strict=True)
        ]

    return app


if __name__ == "__main__":
    uvicorn.run(
        create_app(), port=int(sys.argv[1]), loop="uvloop", http="httptools", access_log=False, log_level="warning"
    )
